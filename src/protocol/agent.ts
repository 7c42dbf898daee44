import project from "../../package.json" with { type: "json" };

/** What the server calls itself in `agent` capabilities. */
export const AGENT = `holdfast/${project.version}`;
