import { expect, test } from '@jest/globals';
import { requireSegment } from './require-segment.ts';

test.each(['', '.', '..'])('%j is not a segment of a URL', (text) => {
  expect(() => requireSegment('project_id', text)).toThrow('project_id: must not be empty, . or ..');
});

test.each(['a', '...', 'a/../b', '%2e%2e', '..\\', '?x#y', 'ä b', '..%2f'])(
  '%j stays one segment',
  (text) => {
    const { pathname } = new URL(`http://host/a/${requireSegment('project_id', text)}/b`);
    expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'a', text, 'b']);
  },
);
