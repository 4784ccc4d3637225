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
  pushes: {
    secrets_location: 'organization',
    organization_name: 'acme',
    organization_visibility: 'selected',
    selected_repository_names: ['web'],
  },
  start: (canary) => startHarness({}, { canary }),
});
