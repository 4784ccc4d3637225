import { codehost } from '@secrets/destinations';
import { describeSettings } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

const organization = { secrets_location: 'organization', organization_name: 'acme' };

describeSettings({
  description: codehost,
  pushes: {
    organization_visibility: { with: organization, value: 'all' },
    selected_repository_names: {
      with: { ...organization, organization_visibility: 'selected' },
      value: ['web'],
    },
  },
  start: (canary) => startHarness({}, { canary }),
});
