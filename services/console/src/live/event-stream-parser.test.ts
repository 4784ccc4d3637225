import { describe, expect, it } from '@jest/globals';
import { eventStreamParser } from './event-stream-parser.ts';

describe('the parser of event streams', () => {
  it('returns a frame when its empty line has arrived, however the text is cut', () => {
    const text = 'retry: 2000\n\nid: 8-1\nevent: entry\ndata: {"a":1}\n\n';
    for (let cut = 0; cut <= text.length; cut++) {
      const parse = eventStreamParser();
      const frames = [...parse(text.slice(0, cut)), ...parse(text.slice(cut))];
      expect(frames).toEqual([{ retry: 2000 }, { id: '8-1', data: '{"a":1}' }]);
    }
  });

  it('ignores comments and frames without a field that it knows', () => {
    expect(eventStreamParser()(': keep-alive\n\nevent: x\n\n')).toEqual([]);
  });

  it('joins the lines of data', () => {
    expect(eventStreamParser()('data: one\ndata: two\n\n')).toEqual([{ data: 'one\ntwo' }]);
  });

  it('refuses a frame that does not end', () => {
    const parse = eventStreamParser();
    expect(() => parse(`data: ${'x'.repeat(300_000)}`)).toThrow('too long');
  });
});
