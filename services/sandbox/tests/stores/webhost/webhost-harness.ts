import { expect } from '@jest/globals';
import { VercelCore } from '@vercel/sdk/core.js';
import { projectsCreateProjectEnv } from '@vercel/sdk/funcs/projectsCreateProjectEnv.js';
import { projectsEditProjectEnv } from '@vercel/sdk/funcs/projectsEditProjectEnv.js';
import { projectsFilterProjectEnvs } from '@vercel/sdk/funcs/projectsFilterProjectEnvs.js';
import { projectsGetProjectEnv } from '@vercel/sdk/funcs/projectsGetProjectEnv.js';
import { projectsRemoveProjectEnv } from '@vercel/sdk/funcs/projectsRemoveProjectEnv.js';
import type { CreateProjectEnv11 } from '@vercel/sdk/models/createprojectenvop.js';
import type { EditProjectEnvRequestBody } from '@vercel/sdk/models/editprojectenvop.js';
import type { Sandbox } from '../../../src/sandbox.ts';

/** Returns what the call returns. Throws its error, whose `body` is the response, if it failed. */
async function unwrapped<Value>(call: Promise<unknown>): Promise<Value> {
  const result = (await call) as { ok: true; value: Value } | { ok: false; error: Error };
  if (result.ok) return result.value;
  throw result.error;
}

interface WireVariable {
  id: string;
  key: string;
  value: string;
  type: string;
  target: string[];
  decrypted?: boolean;
  comment?: string;
  updatedAt: number;
}

/** The provider's own SDK, as the owner of a token uses it. */
export function webhostSdk(
  { webhostUrl, webhost, credentials }: Sandbox,
  { token = credentials.webhost.accessToken, project = webhost.projects[0]! } = {},
) {
  const client = new VercelCore({ serverURL: webhostUrl, bearerToken: token });
  const scope = { idOrName: project.id, ...(project.teamId === undefined ? {} : { teamId: project.teamId }) };
  return {
    list: (over: object = {}) =>
      unwrapped<{ envs: WireVariable[]; pagination: { count: number; next: number | null } }>(
        projectsFilterProjectEnvs(client, { ...scope, ...over }),
      ),
    create: (requestBody: CreateProjectEnv11 | CreateProjectEnv11[], over: object = {}) =>
      unwrapped<{ created: WireVariable; failed: { error: { code: string } }[] }>(
        projectsCreateProjectEnv(client, { ...scope, ...over, requestBody }),
      ),
    get: (id: string) => unwrapped<WireVariable>(projectsGetProjectEnv(client, { ...scope, id })),
    edit: (id: string, requestBody: EditProjectEnvRequestBody) =>
      unwrapped<WireVariable>(projectsEditProjectEnv(client, { ...scope, id, requestBody })),
    remove: (id: string) => unwrapped<object>(projectsRemoveProjectEnv(client, { ...scope, id })),
  };
}

/** The body of a variable for production and preview. */
export const variable = (key: string, over: Partial<CreateProjectEnv11> = {}): CreateProjectEnv11 => ({
  key,
  value: 'one',
  type: 'encrypted',
  target: ['production', 'preview'],
  ...over,
});

/** Matches the failure of a call with this status and error code. */
export const failure = (statusCode: number, code: string) => ({
  statusCode,
  body: expect.stringContaining(`"code":"${code}"`),
});
