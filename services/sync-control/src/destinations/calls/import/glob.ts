import { invalid } from '@secrets/domain';

/** Whether a name matches a pattern. */
export type Glob = (name: string) => boolean;

type Token = { text: string } | 'one' | 'any';

/**
 * Parses a pattern of names: `*` matches any text, also with slashes, `?` one character, and a backslash makes the character that
 * follows it literal. Throws `Problem` `invalid`, which names the field `match`, if it ends in a backslash. Matching takes at
 * most the product of both lengths.
 */
export function parseGlob(pattern: string): Glob {
  const tokens = tokensOf([...pattern]);
  return (name) => matches(tokens, [...name]);
}

function tokensOf(characters: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at]!;
    if (character === '*') tokens.push('any');
    else if (character === '?') tokens.push('one');
    else if (character !== '\\') tokens.push({ text: character });
    else {
      at += 1;
      const text = characters[at];
      if (text === undefined) throw invalid('match: nothing follows the backslash at the end');
      tokens.push({ text });
    }
  }
  return tokens;
}

/** Keeps the positions of the last `*`, which alone has to match more if what follows it does not match. */
function matches(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let star: { token: number; at: number } | undefined;
  while (at < name.length) {
    const wanted = tokens[token];
    if (wanted === 'any') {
      star = { token, at };
      token += 1;
    } else if (wanted !== undefined && (wanted === 'one' || wanted.text === name[at])) {
      token += 1;
      at += 1;
    } else if (star !== undefined) {
      star.at += 1;
      token = star.token + 1;
      at = star.at;
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === 'any');
}
