// Git's own routes below a repository's URL, each with the right that it needs.
import type { Right } from "../../base/access/caller.ts";
import { serveBundle } from "../git/bundle-file.ts";
import type { FetchContext } from "../git/fetch-context.ts";
import { advertiseReceivePack, pushErrorResponse } from "../git/advertise-push.ts";
import { refuseRpc } from "../../base/http/smart-http.ts";
import { advertiseUploadPack, serveUploadPack } from "../git/upload-pack.ts";
import type { NamedRepository } from "./directory.ts";

/** An authorised request to a repository. */
interface GitRequest {
  readonly request: Request;
  readonly repository: NamedRepository;
  readonly fetch: FetchContext;
  /** Whether everyone may read everything (open access). */
  readonly isOpen: boolean;
  /** Whether a push to an unknown name creates its repository. */
  readonly createsOnPush: boolean;
}

/** A route below `/:owner/:repository`. */
export interface GitRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** The value of the query parameter `service`, for routes that have one. */
  readonly service?: "git-upload-pack" | "git-receive-pack";
  readonly needed: Right;
  serve(context: GitRequest): Promise<Response> | Response;
  /** Answers an error of `serve`; default: `errorResponse`. */
  readonly fail?: (error: unknown) => Response;
}

/** @see gitprotocol-http(5) */
export const GIT_ROUTES: readonly GitRoute[] = [
  {
    method: "GET",
    path: "/info/refs",
    service: "git-upload-pack",
    needed: "read",
    serve: ({ request, fetch }) => advertiseUploadPack(request, fetch),
  },
  {
    method: "GET",
    path: "/info/refs",
    service: "git-receive-pack",
    needed: "write",
    serve: ({ request, fetch, createsOnPush }) => advertiseReceivePack(request, fetch, createsOnPush),
  },
  {
    method: "POST",
    path: "/git-upload-pack",
    needed: "read",
    serve: ({ request, fetch }) => serveUploadPack(request, fetch),
  },
  {
    method: "POST",
    path: "/git-receive-pack",
    needed: "write",
    // A request that is not a push must not reserve a name.
    serve: ({ request, repository, createsOnPush }) =>
      refuseRpc(request, "git-receive-pack") ?? repository.push(request, createsOnPush),
    fail: pushErrorResponse,
  },
  {
    method: "GET",
    path: "/bundles/:name",
    needed: "read",
    serve: ({ request, fetch, isOpen }) =>
      serveBundle(request, new URL(request.url).pathname.split("/").at(-1)!, fetch, isOpen ? "public" : "private"),
  },
];
