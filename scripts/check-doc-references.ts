// Checks that every `docs/<page>.md#<heading>` in a comment exists. remark checks the links inside Markdown.
//
//   node scripts/run.mjs scripts/check-doc-references.ts
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { brokenReferences } from './doc-references.ts';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter(
    (file) => existsSync(file) && !/\.md$|^pnpm-lock\.yaml$|^scripts\/doc-references\.test\.ts$/.test(file),
  );
const readPage = (page: string) => (existsSync(page) ? readFileSync(page, 'utf8') : undefined);

const broken = files.flatMap((file) =>
  brokenReferences(readFileSync(file, 'utf8'), readPage).map(
    ({ line, reference, reason }) => `${file}:${line}: ${reference}: ${reason}`,
  ),
);
for (const message of broken) process.stderr.write(`${message}\n`);
if (broken.length > 0) process.exitCode = 1;
