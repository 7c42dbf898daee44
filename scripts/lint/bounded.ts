/** Lint rules of the project's own: what nothing else looks for. */

interface Node {
  readonly type: string;
  /** Null above the program. */
  readonly parent?: Node | null;
  readonly name?: string;
  readonly arguments?: readonly Node[];
  readonly argument?: Node;
  readonly params?: readonly Node[];
}

interface Context {
  report(problem: { node: Node; message: string }): void;
}

const MESSAGE =
  "Arguments that are spread lie on the stack: some 120,000 of them are a RangeError. Use a loop, concat or reduce, or say what bounds them.";

/** Whether a function around a node has these as its own arguments: they were on the stack before. */
function isPassedOn(node: Node, name: string): boolean {
  for (let at = node.parent; at !== undefined && at !== null; at = at.parent) {
    if (at.params?.some(({ type, argument }) => type === "RestElement" && argument?.name === name) === true)
      return true;
  }
  return false;
}

/** No call with spread arguments: the length of a list often depends on what a client sends. */
const callSpread = {
  create(context: Context) {
    const check = ({ arguments: given = [] }: Node): void => {
      for (const node of given) {
        if (node.type !== "SpreadElement") continue;
        const { name } = node.argument ?? {};
        if (name === undefined || !isPassedOn(node, name)) context.report({ node, message: MESSAGE });
      }
    };
    return { CallExpression: check, NewExpression: check };
  },
};

export default { meta: { name: "bounded" }, rules: { "no-call-spread": callSpread } };
