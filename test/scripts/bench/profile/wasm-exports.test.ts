import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listExports } from "../../../../scripts/bench/profile/cpu-profile.ts";
import module from "../../../../src/base/codec/holdfast.wasm";
import { PROJECT } from "../../../harness/build.ts";

test("the exported functions of the module are those that the engine lists", () => {
  const listed = WebAssembly.Module.exports(module).filter(({ kind }) => kind === "function");
  const names = listExports(readFileSync(join(PROJECT, "src/base/codec/holdfast.wasm"))).values();
  expect([...names].toSorted()).toEqual(listed.map(({ name }) => name).toSorted());
});

test("an export has the index of its function", () => {
  // (module (func (result i32) i32.const 1)
  //   (func (export "two") (result i32) i32.const 2) (memory (export "memory") 1))
  const bytes = Uint8Array.from(
    Buffer.from(
      "0061736d010000000105016000017f030302000005030100010710020374776f0001066d656d6f727902000a0b02040041010b040041020b",
      "hex",
    ),
  );
  expect(WebAssembly.validate(bytes)).toBe(true);
  expect(listExports(bytes)).toEqual(new Map([[1, "two"]]));
});
