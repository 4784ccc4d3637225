import { excessOf, invalid, repeatedName } from '@secrets/domain';

/** More levels than a policy has, and more values than 2,000 paths with their capabilities. */
const budget = { depth: 16, values: 20_000 };

/** Parses a policy in JSON. Throws `invalid` if it exceeds the budget, has a syntax error or a name occurs twice in an object. */
export function readJson(source: string): unknown {
  const excess = excessOf(Buffer.from(source), budget);
  if (excess !== undefined) throw invalid(`policy: ${excess}`);
  const tree = parsedJson(source);
  const repeated = repeatedName(source);
  if (repeated !== undefined)
    throw invalid(
      `policy: ${JSON.stringify(repeated)} occurs twice in one JSON object, and only the last would count`,
    );
  return tree;
}

function parsedJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    throw invalid(`policy: ${lineOf(source, error)}invalid JSON`);
  }
}

function lineOf(source: string, error: unknown): string {
  const at = /position (\d+)/.exec(String(error))?.[1];
  return at === undefined ? '' : `line ${source.slice(0, Number(at)).split('\n').length}: `;
}
