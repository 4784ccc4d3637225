import { cloudBKv } from '@secrets/destinations';
import { describeSettings } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeSettings({
  description: cloudBKv,
  pushes: {
    custom_tags: { value: { team: 'a' } },
    content_type: { value: 'text/plain' },
    expires_after: { value: 86_400 },
  },
  variants: [{ identity_token_audience: 'api://exchange' }],
  start: (canary) => startHarness({}, { canary }),
});
