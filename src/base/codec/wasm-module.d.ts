/** An imported `.wasm` file is its compiled module, in the runtime and in tests. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
