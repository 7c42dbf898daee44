import project from "../../../package.json" with { type: "json" };

/** The server's name and version in the `agent` capability. */
export const AGENT = `holdfast/${project.version}`;
