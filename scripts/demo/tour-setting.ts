import type { Api } from '../../tests/harness/http.ts';
import type { SandboxControl } from '../../tests/harness/sandbox-control.ts';
import type { DemoService } from './service.ts';
import type { Step } from './steps.ts';

/**
 * Context that the steps of one run share. The names are unique, so that the demo can run again on the same service.
 */
export interface Tour {
  service: DemoService;
  /** With the root token. */
  root: Api;
  sandbox: SandboxControl;
  step: Step;
  mount: string;
  /** Path of the destination: `sys/sync/destinations/cloudA-sm/<name>`. */
  destination: string;
  /** Prefix of the secrets in the external store. */
  prefix: string;
}
