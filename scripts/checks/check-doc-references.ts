// Checks that every `docs/<page>.md#<heading>` in a comment exists, that a link from a name to a source file leads to its
// definition, and that no page is too long to be read. remark checks the other links inside Markdown.
//
//   node scripts/run.mjs scripts/checks/check-doc-references.ts
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brokenReferences } from './doc-references.ts';
import { brokenSourceLinks } from './source-links.ts';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => existsSync(file) && !/^pnpm-lock\.yaml$|^scripts\/checks\/[\w-]+\.test\.ts$/.test(file));
const readIfExists = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

const largestPage = 30 * 1024;

const tooLong = files
  .filter((file) => file.endsWith('.md'))
  .map((file) => ({ file, bytes: statSync(file).size }))
  .filter(({ bytes }) => bytes > largestPage)
  .map(({ file, bytes }) => `${file}: ${bytes} bytes; split it into pages of at most ${largestPage}`);

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
for (const message of [...tooLong, ...broken]) process.stderr.write(`${message}\n`);
if (tooLong.length + broken.length > 0) process.exitCode = 1;
