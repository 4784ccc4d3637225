// Checks the comments of the sources (comments.ts lists the rules) and the size of the folders.
//
//   node scripts/run.mjs scripts/checks/check-comments.ts [--list]
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { type CommentRule, commentFaults, crowdedFolders } from './comments.ts';

type Rule = CommentRule | 'folder';

/** Faults that are still there, by rule. These numbers may only shrink; a new fault fails the check. */
const remaining: Record<Rule, number> = {
  opening: 0,
  'long line': 0,
  dialect: 0,
  context: 0,
  folder: 0,
};

/** Folders that may hold more than 14 entries, with the reason. */
const largeFolders: [RegExp, string][] = [
  [/^$/, 'tools look for their settings in the root'],
  [/^libs$/, 'one folder per package'],
  [/^libs\/schemas\/migrations\/\w+$/, 'one file per migration'],
  [/^docs$/, 'one page per topic, at an address that others link to'],
  [/^docs\/(adr|performance|console)$/, 'one file per decision, and generated tables and pictures'],
  [/^services\/login\/src$/, 'one folder per topic'],
  [/^k8s\/base$/, 'kustomize lists the manifests'],
];

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => existsSync(file));
const sources = files.filter(
  (file) => /\.(ts|tsx|mjs)$/.test(file) && file !== 'scripts/checks/comments.test.ts',
);

const faults: { rule: Rule; message: string }[] = [
  ...sources.flatMap((file) =>
    commentFaults(readFileSync(file, 'utf8')).map(({ line, rule, text }) => ({
      rule,
      message: `${file}:${line}: ${rule}: ${text}`,
    })),
  ),
  ...crowdedFolders(files)
    .filter(({ folder }) => !largeFolders.some(([pattern]) => pattern.test(folder)))
    .map(({ folder, entries }) => ({ rule: 'folder' as const, message: `${folder}: ${entries} entries` })),
];

for (const rule of Object.keys(remaining) as Rule[]) {
  const found = faults.filter((fault) => fault.rule === rule);
  if (process.argv.includes('--list')) process.stdout.write(`${rule}: ${found.length}\n`);
  if (found.length <= remaining[rule]) continue;
  for (const { message } of found) process.stderr.write(`${message}\n`);
  process.stderr.write(`${found.length} faults of the rule '${rule}', at most ${remaining[rule]}\n`);
  process.exitCode = 1;
}
