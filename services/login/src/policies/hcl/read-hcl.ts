import { HclScanner, type Token } from './scan-hcl.ts';

type HclValue = string | number | boolean | HclValue[] | HclObject;
interface HclObject {
  [name: string]: HclValue;
}

const maxDepth = 16;

/**
 * Parses HCL version 1, in which policies are written (docs/adr/0009-hcl-parser.md), into plain values: a block becomes an
 * object in an array under its name, so that a name may have several, and lists of the same name are joined. Throws `invalid`
 * with line and column if the text has a syntax error, is nested deeper than 16 levels, or has a name twice otherwise.
 */
export function readHcl(text: string): HclObject {
  const scanner = new HclScanner(text);
  return objectUntil('end', scanner, 1);
}

function objectUntil(end: 'end' | '}', scanner: HclScanner, depth: number): HclObject {
  const object: HclObject = Object.create(null); // any name is only a name
  for (let token = scanner.next(); token.kind !== end; token = afterComma(scanner)) {
    const first = token;
    const names: string[] = [];
    for (; token.kind === 'name' || token.kind === 'string'; token = scanner.next())
      names.push(String(token.value));
    if (names.length === 0) fail(scanner, token, end === '}' ? 'a name or }' : 'a name');
    const inner = depth + names.length;
    if (inner > maxDepth) scanner.fail('nested too deeply', first.at);
    const value = assigned(scanner, token, names.length, inner);
    if (!put(object, names, value)) scanner.fail(`${names[0]} is already set`, first.at);
  }
  return object;
}

/** The next token, behind the comma that may follow a field. */
function afterComma(scanner: HclScanner): Token {
  const token = scanner.next();
  return token.kind === ',' ? scanner.next() : token;
}

/** The block that follows names, or the value that follows a single one. */
function assigned(scanner: HclScanner, token: Token, names: number, depth: number): HclValue {
  if (token.kind === '{') return [objectUntil('}', scanner, depth)];
  if (names > 1 || token.kind !== '=') fail(scanner, token, names > 1 ? '{' : '{ or =');
  const value = scanner.next();
  return value.kind === '{' ? [objectUntil('}', scanner, depth)] : valueAt(scanner, value, depth);
}

function valueAt(scanner: HclScanner, token: Token, depth: number): HclValue {
  if (depth > maxDepth) scanner.fail('nested too deeply', token.at);
  if (token.kind === 'string' || token.kind === 'literal') return token.value;
  if (token.kind === '{') return objectUntil('}', scanner, depth);
  if (token.kind === '[') return listIn(scanner, depth);
  return fail(scanner, token, 'a value');
}

function listIn(scanner: HclScanner, depth: number): HclValue[] {
  const list: HclValue[] = [];
  let token = scanner.next();
  while (token.kind !== ']') {
    list.push(valueAt(scanner, token, depth + 1));
    token = scanner.next();
    if (token.kind === ',') token = scanner.next();
    else if (token.kind !== ']') fail(scanner, token, 'a comma or ]');
  }
  return list;
}

/** Adds a value under the last name, in objects under the others. Returns false if there is another one that it cannot join. */
function put(object: HclObject, [name, ...inner]: readonly string[], value: HclValue): boolean {
  const last = inner.length === 0;
  const added = last ? value : [Object.create(null) as HclObject];
  if (!last) put((added as HclObject[])[0]!, inner, value);
  const known = object[name!];
  if (known === undefined) object[name!] = added;
  else if (Array.isArray(known) && Array.isArray(added)) known.push(...added);
  else return false;
  return true;
}

const shown: Partial<Record<Token['kind'], string>> = { end: 'the end of the text', literal: 'a value' };

function fail(scanner: HclScanner, { kind, at }: Token, expected: string): never {
  return scanner.fail(
    `expected ${expected}, got ${shown[kind] ?? (kind.length === 1 ? kind : `a ${kind}`)}`,
    at,
  );
}
