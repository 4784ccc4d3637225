import { webhostProject } from '@secrets/destinations';
import { describeSettings } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeSettings({
  description: webhostProject,
  pushes: {
    deployment_environments: { value: ['preview'], keepsAdditions: true },
    custom_environment_ids: { value: ['env_staging'] },
    git_branch: { with: { deployment_environments: ['preview'] }, value: 'feature' },
    sensitive: { value: true },
  },
  start: (canary) => startHarness({}, { canary }),
});
