import { invalid, repeatedName } from '@secrets/domain';

/** Parses a policy in JSON. Throws `invalid` if it has a syntax error or a name occurs twice in an object. */
export function readJson(source: string): unknown {
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
