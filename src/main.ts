// What is deployed: the Worker, and the classes of its objects.
export { default } from "./worker/worker.ts";
export { OwnerObject } from "./object/owner-object.ts";
export { RegistryObject } from "./object/registry-object.ts";
export { RepositoryObject } from "./object/repository-object.ts";
