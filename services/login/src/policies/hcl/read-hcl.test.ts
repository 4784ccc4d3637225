// biome-ignore-all lint/suspicious/noTemplateCurlyInString: interpolations of HCL are text
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { readHcl } from './read-hcl.ts';

const plain = (text: string): unknown => JSON.parse(JSON.stringify(readHcl(text)));

describe('a value may be', () => {
  test.each<[string, unknown]>([
    ['-5', -5],
    ['0x1F', 31],
    ['010', 8],
    ['.5', 0.5],
    ['-2.5e-1', -0.25],
    ['true', true],
    ['"a\\t\\"\\\\\\101\\x41\\u00e4\\U0001F600"', 'a\t"\\AAä😀'],
    ['"$a ${b "c" {d} \\ } $"', '$a ${b "c" {d} \\ } $'],
    ['<<E\n a "b"\n\n  E\n', ' a "b"\n\n'],
    ['<<-E\n  a\n    b\n  E\n', 'a\n  b\n'],
    ['<<-E\n a\n   b\n  E\n', ' a\n   b\n'],
    ['<<E\nE\n', ''],
    ['["a", 1, [true], { b = [] },]', ['a', 1, [true], { b: [] }]],
    ['{ b = { c = 1 } }', [{ b: [{ c: 1 }] }]],
  ])('%j', (text, value) => expect(plain(`a = ${text}`)).toEqual({ a: value }));
});

test('names in a row are blocks in each other, and blocks and lists of a name are joined', () => {
  expect(plain('a "b c" { d = 1 } a "b c" { }, a.é-1 { }')).toEqual({
    a: [{ 'b c': [{ d: 1 }] }, { 'b c': [{}] }],
    'a.é-1': [{}],
  });
  expect(plain('a = ["b"] a = ["c"] __proto__ = 1')).toEqual(JSON.parse('{"a":["b","c"],"__proto__":1}'));
});

test('a comment ends with its line, not at a carriage return', () => {
  expect(plain('# a\rb = 1\r\nc = 2 // d\n/* e\n*/')).toEqual({ c: 2 });
});

describe('refused with line and column is', () => {
  test.each([
    ['a second value of a name', 'a = 1\r\n a = 2', 'line 2, column 2: a is already set'],
    ['a list where a value is', 'a = 1 a = [2]', 'column 7: a is already set'],
    ['a name without a value', 'a = # b', 'column 8: expected a value, got the end of the text'],
    ['two names of a value', 'a b = 1', 'column 5: expected {, got ='],
    ['a name without anything', 'a', 'column 2: expected { or =, got the end of the text'],
    ['a word as a value', 'a = read', 'column 5: expected a value, got a name'],
    ['a number as a name', 'a { 1 = 2 }', 'column 5: expected a name or }, got a value'],
    ['a list without a comma', 'a = ["😀" "c"]', 'column 10: expected a comma or ], got a string'],
    ['a list that begins with a comma', 'a = [,]', 'column 6: expected a value, got ,'],
    ['a string over two lines', 'a = "b\n"', 'line 1, column 5: string not terminated'],
    ['an interpolation without its end', 'a = "${b"', 'column 6: string not terminated'],
    ['a comment without its end', 'a = 1 /* b', 'column 7: comment not terminated'],
    ['a heredoc without its end', 'a = <<E\nb\nE', 'line 1, column 5: heredoc not terminated'],
    ['an anchor that is no word', 'a = <<"E"\nE\n', 'column 5: illegal heredoc'],
    ['an unknown escape', 'a = "\\d"', 'column 6: illegal escape'],
    ['half a character', 'a = "\\ud800"', 'illegal escape'],
    ['a byte that is no character', 'a = "\\xff"', 'illegal escape'],
    ['an octal number with a 9', 'a = 09', 'column 5: illegal octal number'],
    ['a number with too many digits', 'a = 12345678901234567890', 'column 5: the number would lose digits'],
    ['another character', 'a = 1 ; b', 'column 7: illegal character'],
    ['a NUL', '# \0', 'column 3: illegal character'],
    ['a list in too many', `a = ${'['.repeat(17)}`, 'nested too deeply'],
    ['an object in too many lists', `a = ${'[{a = '.repeat(9)}`, 'nested too deeply'],
    ['a block in too many', 'a {'.repeat(17), 'nested too deeply'],
    ['a row of too many names', `${'a '.repeat(17)} {}`, 'nested too deeply'],
  ])('%s', (_what, text, message) => expect(() => readHcl(text)).toThrow(message));
});

describe('the steps of the parser are fewer than twice the characters for', () => {
  afterEach(() => void jest.restoreAllMocks());

  const size = 65_536;
  test.each([
    ['paths', 'path "a"{policy="read"}\n'],
    ['names', 'a '],
    ['lists', 'a=[],'],
    ['items', 'a=[1,2,"",'],
    ['escapes', '"\\"\\"'],
    ['dollars', 'a="$$'],
    ['interpolations', 'a="${}${'],
    ['braces', '"${{}'],
    ['comments', '#\n'],
    ['comments without an end', '/* '],
    ['comments in a row', '/**/'],
    ['heredocs', 'a = <<E\nE\n'],
    ['lines of a heredoc', 'a = <<E\n\n'],
    ['anchors', '<<'],
    ['indentation', 'a = <<-E\n \n'],
    ['numbers', '1e'],
    ['minus signs', 'a=-'],
    ['blanks', ' \n'],
  ])('%s', (_what, unit) => {
    const exec = jest.spyOn(RegExp.prototype, 'exec');
    const first = unit.slice(0, unit.indexOf('\n') + 1);
    for (const text of [
      unit.repeat(size / unit.length),
      first + unit.slice(first.length).repeat(size / unit.length),
    ]) {
      exec.mockClear();
      try {
        readHcl(text);
      } catch {
        // a syntax error takes no longer
      }
      expect(exec.mock.calls.length).toBeGreaterThan(0);
      expect(exec.mock.calls.length).toBeLessThan(2 * size);
    }
  });
});
