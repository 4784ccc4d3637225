import { describeSettings } from '@secrets/sync-worker/testing';
import { notesKv } from '../description/notes-kv.ts';
import { startHarness } from './notes-harness.ts';

describeSettings({
  description: notesKv,
  pushes: { custom_tags: { value: { team: 'a' } } },
  start: startHarness,
});
