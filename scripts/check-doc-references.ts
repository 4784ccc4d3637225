// Checks that every `docs/<page>.md#<heading>` in a comment exists, and that a link from a name to a source file leads to its
// definition. remark checks the other links inside Markdown.
//
//   node scripts/run.mjs scripts/check-doc-references.ts
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brokenReferences } from './doc-references.ts';
import { brokenSourceLinks } from './source-links.ts';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => existsSync(file) && !/^pnpm-lock\.yaml$|^scripts\/[\w-]+\.test\.ts$/.test(file));
const readIfExists = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

const broken = files.flatMap((file) => {
  const text = readFileSync(file, 'utf8');
  if (!file.endsWith('.md'))
    return brokenReferences(text, readIfExists).map(
      ({ line, reference, reason }) => `${file}:${line}: ${reference}: ${reason}`,
    );
  return brokenSourceLinks(text, (path) => readIfExists(join(dirname(file), path))).map(
    ({ line, name, file: source }) => `${file}:${line}: ${source} does not define ${name}`,
  );
});
for (const message of broken) process.stderr.write(`${message}\n`);
if (broken.length > 0) process.exitCode = 1;
