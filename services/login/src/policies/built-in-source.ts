import { defaultPolicy } from '@secrets/access';

const defaultSource = defaultPolicy.paths
  .map(({ path, capabilities }) => `path "${path}" {\n  capabilities = ${JSON.stringify(capabilities)}\n}\n`)
  .join('\n');

/** The text of the built-in policies. */
export const builtInSource: ReadonlyMap<string, string> = new Map([
  ['default', `# What a token may do with itself, and response wrapping.\n${defaultSource}`],
  ['root', '# Everything on every path. Cannot be changed.\n'],
]);
