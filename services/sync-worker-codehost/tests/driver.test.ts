import { codehost } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeDriver({
  name: codehost.type,
  maxValueBytes: codehost.maxValueBytes,
  takesEmptyValue: codehost.takesEmptyValue,
  supportsTags: codehost.supportsTags,
  recordsStart: true,
  mayWriteTwice: true,
  changesOutside: ['value', 'deleted'],
  start: (canary) => startHarness({}, { canary }),
});
