/** Lint rules of the project's own. */

interface Node {
  readonly type: string;
  /** Null for the program. */
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

/** Whether the list is the rest parameter of an enclosing function: it was on the stack before. */
function isPassedOn(node: Node, name: string): boolean {
  for (let at = node.parent; at !== undefined && at !== null; at = at.parent) {
    if (at.params?.some(({ type, argument }) => type === "RestElement" && argument?.name === name) === true)
      return true;
  }
  return false;
}

/** No spread of a list into a call's arguments: the list's length often depends on the client. */
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
