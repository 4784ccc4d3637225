import { describeDriver } from '@secrets/sync-worker/testing';
import { notesKv } from '../description/notes-kv.ts';
import { startHarness } from './notes-harness.ts';

describeDriver({
  name: notesKv.type,
  maxValueBytes: notesKv.maxValueBytes,
  takesEmptyValue: notesKv.takesEmptyValue,
  supportsTags: notesKv.supportsTags,
  changesOutside: {
    value: { belongs: 'own', isUntouched: false, value: 'different' },
    tags: { belongs: 'own', isUntouched: true },
    deleted: { exists: false },
  },
  start: startHarness,
});
