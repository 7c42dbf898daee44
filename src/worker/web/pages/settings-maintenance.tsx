import { decodeText } from "../../../base/format/byte-string.ts";
import {
  FSCK_STAGES,
  type FsckPlace,
  type FsckReport,
  MAINTENANCE_KINDS,
  type MaintenanceStatus,
} from "../../../contract/upkeep.ts";
import { showSize } from "../parts/file-box.tsx";
import { readForm, textOf } from "../parts/forms.ts";
import { settingsUrl, showSettings } from "../parts/settings-frame.tsx";
import { visibleLine } from "../parts/text.ts";
import { Ago, toIso } from "../parts/times.tsx";
import type { PageContext } from "../parts/web-env.ts";

const MAX_FORM_BYTES = 32 * 1024;

/** Maximum number of problems on a page. */
const SHOWN_PROBLEMS = 100;

/** Stages whose places are numbers. */
const NUMBERED: ReadonlySet<string> = new Set(["index", "chunks", "reachability"]);

/** `/{owner}/{repo}/settings/maintenance`: a repository's storage and its pending jobs. */
export async function maintenancePage(context: PageContext): Promise<Response> {
  return show(context, await context.get("repository").maintenance(), null);
}

/** `POST /{owner}/{repo}/settings/maintenance`: runs the pending jobs. */
export async function runMaintenance(context: PageContext): Promise<Response> {
  await readForm(context.req.raw, MAX_FORM_BYTES);
  await context.get("repository").maintain(MAINTENANCE_KINDS);
  return context.redirect(settingsUrl(context, "maintenance"), 303);
}

/** `POST /{owner}/{repo}/settings/maintenance/check`: checks stored objects, a second at a time. */
export async function runCheck(context: PageContext): Promise<Response> {
  const place = readPlace(await readForm(context.req.raw, MAX_FORM_BYTES));
  const repository = context.get("repository");
  const report = await repository.fsck({ place, rules: null, repair: false });
  return show(context, await repository.maintenance(), report);
}

/** Reads the place where a check continues; null: the beginning. */
function readPlace(form: URLSearchParams): FsckPlace | null {
  const stage = FSCK_STAGES.find((name) => name === textOf(form, "stage"));
  const after = textOf(form, "after");
  if (stage === undefined || (NUMBERED.has(stage) && !/^(\d+(\.\d+)?)?$/.test(after))) return null;
  return { stage, after };
}

function show(context: PageContext, status: MaintenanceStatus, report: FsckReport | null): Promise<Response> {
  const url = settingsUrl(context, "maintenance");
  return showSettings(context, "maintenance", {
    children: (
      <>
        <StatusFacts status={status} />
        <form method="post" action={url}>
          <button>Run maintenance now</button>
        </form>
        <h3>Check</h3>
        <p>A check reads all that is stored, and compares it. It takes about a second for each 64 MiB.</p>
        {report !== null && <Report report={report} />}
        <form method="post" action={`${url}/check`}>
          {report !== null && report.next !== null && (
            <>
              <input type="hidden" name="stage" value={report.next.stage} />
              <input type="hidden" name="after" value={report.next.after} />
            </>
          )}
          <button>{report === null || report.next === null ? "Check from the beginning" : "Continue the check"}</button>
        </form>
      </>
    ),
  });
}

function StatusFacts({ status }: { status: MaintenanceStatus }) {
  const { objects, commits, refs, bytes, hotBytes, chunks, r2Objects, jobs, lastRuns } = status;
  const nowMs = Date.now();
  const facts: readonly (readonly [string, string])[] = [
    ["Objects", objects.toLocaleString("en")],
    ["Commits", commits.toLocaleString("en")],
    ["Refs", refs.toLocaleString("en")],
    ["Stored", showSize(bytes)],
    ["Of it in SQLite", `${showSize(hotBytes)}, ${chunks.hot.toLocaleString("en")} chunks`],
    ["In R2", `${chunks.sealed.toLocaleString("en")} chunks, ${r2Objects.toLocaleString("en")} objects`],
  ];
  return (
    <>
      <dl class="pairs">
        {facts.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>Jobs</h3>
      <ul>
        {jobs.length === 0 && <li>Nothing is to be done.</li>}
        {jobs.map(({ kind, key, dueMs, attempts, lastError }) => (
          <li>
            {kind} {visibleLine(key)} <Ago iso={toIso(dueMs)} nowMs={nowMs} />
            {attempts > 0 && `, failed ${attempts} times: ${visibleLine(lastError ?? "")}`}
          </li>
        ))}
        {Object.entries(lastRuns).map(([kind, { timeMs, ms }]) => (
          <li class="muted">
            {kind} ran <Ago iso={toIso(timeMs)} nowMs={nowMs} />, in {ms} ms
          </li>
        ))}
      </ul>
    </>
  );
}

function Report({ report: { checked, problems, problemCount, next } }: { report: FsckReport }) {
  const where = next === null ? "to the end" : `up to the stage ${next.stage}`;
  return (
    <div class={problemCount === 0 ? "note" : "fault"} role="status">
      <p>
        Checked {where}: {checked.objects.toLocaleString("en")} objects, {showSize(checked.bytes)},{" "}
        {checked.refs.toLocaleString("en")} refs.{" "}
        <strong>{problemCount === 0 ? "No problem was found." : `${problemCount} problems were found.`}</strong>
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.slice(0, SHOWN_PROBLEMS).map(({ kind, oid, ref, detail }) => (
            <li>
              {kind} {oid !== undefined && <code>{oid}</code>} {ref !== undefined && visibleLine(decodeText(ref))}{" "}
              {visibleLine(detail)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
