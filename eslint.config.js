// ESLint, flat. Besides the type-aware rules of typescript-eslint it holds the source tree to the rules of
// CONTRIBUTING.md ("Laws of the source tree"): who may touch the disk, the clock, chance, the console.
// Who may import whom is the business of .dependency-cruiser.cjs.
import tseslint from "typescript-eslint";

const never = (name, message) => ({ name, message });
const neverOf = (object, property, message) => ({ object, property, message });
const neverProperty = (property, message) => ({ property, message });

// --- imports -------------------------------------------------------------------------------------------------

const DISK = {
  regex: "^(node:)?(fs|fs/promises|child_process)$",
  message:
    "Files and processes belong to trace/reader, trace/writer, workload, adapter/process, adapter/checkout, device/native-loader and cli.",
};
const LOADER = {
  regex: "^(node:)?module$|\\.node$",
  message: "Only device/native-loader.ts loads a .node file.",
};
const CONSOLE_MODULE = {
  regex: "^(node:)?console$",
  message: "Only cli prints.",
};
const PURE = {
  regex: "^(?!\\.{1,2}/)",
  message: "This room is pure: no node: module, no package.",
};
const imports = (...patterns) => ({ "no-restricted-imports": ["error", { patterns }] });

// --- globals and properties ----------------------------------------------------------------------------------

const LOCALE = ["localeCompare", "toLocaleString", "toLocaleLowerCase", "toLocaleUpperCase"]
  .concat(["toLocaleDateString", "toLocaleTimeString"])
  .map((name) =>
    neverProperty(name, "The answer depends on the machine's locale; compare code units instead."),
  );
const CHANCE = neverOf("Math", "random", "Draw from the seeded generator of base instead.");
const PRINTING = [
  neverOf("process", "env", "Only cli reads the environment."),
  neverOf("process", "exitCode", "Only cli sets the exit code."),
  neverOf("process", "exit", "Set process.exitCode in cli: exit() cuts output."),
  neverOf("process", "stdout", "Only cli prints; take a stream as a parameter."),
  neverOf("process", "stderr", "Only cli prints; take a stream as a parameter."),
  neverOf("process", "stdin", "Only cli reads standard input; take a stream as a parameter."),
  neverOf("process", "dlopen", "Only device/native-loader.ts loads a .node file."),
];
const CLOCK = [
  never("Date", "No clock here: decisions and traces depend on the input alone."),
  never("performance", "No clock here: decisions and traces depend on the input alone."),
];
const OUTSIDE = ["process", "console", "fetch", "crypto", "Intl", "globalThis", "Promise"]
  .concat(["setTimeout", "setInterval", "setImmediate", "queueMicrotask"])
  .map((name) => never(name, "This room is pure and synchronous."));
const ASYNC = [
  { selector: "AwaitExpression", message: "This room is synchronous." },
  { selector: ":function[async=true]", message: "This room is synchronous." },
  { selector: "ForOfStatement[await=true]", message: "This room is synchronous." },
  { selector: "ImportExpression", message: "This room imports statically." },
];

export default tseslint.config(
  {
    ignores: [
      "dist/",
      "build/",
      "coverage/",
      "node_modules/",
      ".gpu/",
      "src/trace/generated/",
      "src/report/html/generated/",
    ],
  },
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: [
            "vitest.config.ts",
            "examples/kits/typescript/*.d.mts",
            "scripts/*.d.mts",
          ],
        },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", caughtErrors: "none" },
      ],
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/restrict-plus-operands": ["error", { allowNumberAndString: true }],
      "@typescript-eslint/no-unnecessary-condition": [
        "error",
        { allowConstantLoopConditions: "only-allowed-literals" },
      ],
      "@typescript-eslint/no-confusing-void-expression": [
        "error",
        { ignoreArrowShorthand: true, ignoreVoidOperator: true },
      ],
      // Index access in hot loops needs `!`; the argument why it holds stands above the line.
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/unified-signatures": "off",
      "@typescript-eslint/prefer-literal-enum-member": "off",
    },
  },

  // Every room of src: no chance, no locale, no printing, no environment, no disk.
  {
    files: ["src/**/*.ts"],
    rules: {
      "no-console": "error",
      "@typescript-eslint/require-array-sort-compare": ["error", { ignoreStringArrays: true }],
      "no-restricted-properties": ["error", CHANCE, ...LOCALE, ...PRINTING],
      ...imports(DISK, LOADER, CONSOLE_MODULE),
    },
  },
  // Where files and processes are touched.
  {
    files: [
      "src/trace/reader*.ts",
      "src/trace/reader/**/*.ts",
      "src/trace/writer*.ts",
      "src/trace/writer/**/*.ts",
      "src/workload/**/*.ts",
      "src/adapter/process*.ts",
      "src/adapter/checkout*.ts",
    ],
    rules: imports(LOADER, CONSOLE_MODULE),
  },
  {
    files: ["src/device/native-loader.ts", "src/device/whole-library.ts"],
    rules: imports(CONSOLE_MODULE),
  },
  // Rooms whose results go into a trace know no clock.
  {
    files: ["src/{base,trace,device,workload}/**/*.ts"],
    rules: { "no-restricted-globals": ["error", ...CLOCK] },
  },
  // The two allocators: pure and synchronous.
  {
    files: ["src/{kv,reference,heap}/**/*.ts"],
    rules: {
      "no-restricted-globals": ["error", ...CLOCK, ...OUTSIDE],
      "no-restricted-syntax": ["error", ...ASYNC],
      ...imports(PURE),
    },
  },
  // The command line: prints, reads the environment, sets the exit code, opens files.
  {
    files: ["src/cli/**/*.ts"],
    rules: {
      "no-console": "off",
      "no-restricted-properties": [
        "error",
        CHANCE,
        ...LOCALE,
        neverOf("process", "exit", "Set process.exitCode: exit() cuts output."),
      ],
      ...imports(LOADER),
    },
  },

  // Tests may be blunt.
  {
    files: ["test/**/*.ts", "vitest.config.ts"],
    rules: {
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/no-dynamic-delete": "off",
      "@typescript-eslint/no-empty-function": "off",
      "@typescript-eslint/no-unnecessary-condition": "off",
      "@typescript-eslint/unbound-method": "off",
      "@typescript-eslint/restrict-template-expressions": "off",
    },
  },
  // Plain scripts and the adapter kits under examples belong to no TypeScript project.
  {
    files: ["**/*.{js,mjs,cjs}", "examples/**/*.ts"],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    files: ["**/*.cjs", "bin/*.js"],
    rules: { "@typescript-eslint/no-require-imports": "off" },
  },
);
