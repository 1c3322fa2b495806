/**
 * House rules that oxlint does not bring. Each keeps a promise that review would otherwise have to remember:
 * time is passed in, never read (`Date.now()` is banned in .oxlintrc.json; `new Date()` is the other way to read
 * it), a package's surface is a list of names, so `export *` cannot widen it by accident, and the agent's logic
 * uses its own types: messages of the wire stay at its edge.
 */
interface SyntaxNode {
  readonly type: string;
  readonly callee?: SyntaxNode;
  readonly name?: string;
  readonly arguments?: readonly unknown[];
  readonly imported?: SyntaxNode;
}

interface RuleContext {
  report(problem: { readonly node: SyntaxNode; readonly message: string }): void;
}

type Visitor = Readonly<Record<string, (node: SyntaxNode) => void>>;

const noClockConstructor = {
  create: (context: RuleContext): Visitor => ({
    NewExpression: (node) => {
      const readsClock = node.callee?.name === "Date" && node.arguments?.length === 0;
      if (!readsClock) return;
      context.report({ node, message: "new Date() reads the clock: take the instant as a parameter." });
    },
  }),
};

const noExportAll = {
  create: (context: RuleContext): Visitor => ({
    ExportAllDeclaration: (node) => {
      context.report({ node, message: "export * hides the surface: re-export by name." });
    },
  }),
};

/** Where it applies is in .oxlintrc.json. */
const wireAtTheEdge = {
  create: (context: RuleContext): Visitor => ({
    ImportSpecifier: (node) => {
      if (node.imported?.name?.endsWith("DTO") !== true) return;
      context.report({ node, message: "A message of the wire: map it in transport/reservation-mapping.ts." });
    },
  }),
};

export default {
  meta: { name: "house" },
  rules: {
    "no-clock-constructor": noClockConstructor,
    "no-export-all": noExportAll,
    "wire-at-the-edge": wireAtTheEdge,
  },
};
