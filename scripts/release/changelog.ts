/**
 * The section of a version in a changelog, without its heading. A section whose heading ends in `(unreleased)` is only returned
 * for a dry run.
 * @throws if there is none, or it has no text
 */
export function notesOf(changelog: string, version: string, { isDryRun }: { isDryRun: boolean }): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((one) => one.split(/\s/, 1)[0] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${version}`);
  const [heading = '', ...lines] = section.split('\n');
  if (heading.includes('(unreleased)') && !isDryRun)
    throw new Error(`CHANGELOG.md: write the date of the release into the heading of ${version}`);
  const notes = lines.join('\n').trim();
  if (notes === '') throw new Error(`CHANGELOG.md says nothing about ${version}`);
  return `${notes}\n`;
}
