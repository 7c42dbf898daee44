// Must be imported first. Modules that are imported dynamically afterwards can import `.wasm` files
// as the runtime does: as compiled modules.
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith(".wasm")) return nextLoad(url, context);
    const source = `import { readFileSync } from "node:fs";
      export default new WebAssembly.Module(readFileSync(new URL(${JSON.stringify(url)})));`;
    return { format: "module", source, shortCircuit: true };
  },
});
