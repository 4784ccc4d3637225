import { createHash } from 'node:crypto';
import type { StoredSecret } from '../simulated-store.ts';

export const environments = ['production', 'preview', 'development'] as const;
type Environment = (typeof environments)[number];

/** A record of the API: a value of a key for some of a project's environments. The field names are also the journal's format. */
export interface Variable {
  id: string;
  projectId: string;
  key: string;
  value: string;
  type: 'plain' | 'encrypted' | 'sensitive' | 'system';
  target: Environment[];
  customEnvironmentIds: string[];
  /** Restricts a variable for previews to one branch. */
  gitBranch: string | null;
  comment: string;
  /** The integration that owns the variable. */
  configurationId: string | null;
  /** Milliseconds since 1970; distinct in a project, so that a page can end anywhere. */
  createdAt: number;
  updatedAt: number;
  /** How often a value was written. */
  writes: number;
}

/** A variable as in responses. Encrypted values are shown encrypted unless `decrypt` is set, and sensitive ones never. */
export function wireVariable(variable: Variable, { decrypt = false } = {}): object {
  const { projectId: _project, writes: _writes, value, gitBranch, comment, ...others } = variable;
  return {
    ...others,
    ...(gitBranch === null ? {} : { gitBranch }),
    ...(comment === '' ? {} : { comment }),
    ...shownValue(variable.type, value, decrypt),
    edgeConfigId: null,
    edgeConfigTokenId: null,
    contentHint: null,
    internalContentHint: null,
    createdBy: 'usr_sandbox',
    updatedBy: null,
    system: variable.type === 'system',
  };
}

function shownValue(type: Variable['type'], value: string, decrypt: boolean): object {
  if (type === 'sensitive') return { value: '', decrypted: false };
  if (type === 'encrypted' && !decrypt) return { value: ciphertext(value), decrypted: false };
  return { value, decrypted: type === 'encrypted' };
}

/** Returns text in the form of the real service's ciphertext. Neither the value nor its size can be derived from it. */
const ciphertext = (value: string): string =>
  Buffer.from(
    JSON.stringify({ v: 'v2', c: createHash('sha512').update(`sandbox ${value}`).digest('base64') }),
  ).toString('base64');

export const storedSecret = (variable: Variable): StoredSecret => ({
  name: variable.key,
  region: variable.projectId,
  value: variable.value,
  tags: {
    id: variable.id,
    target: [...variable.target, ...variable.customEnvironmentIds].join(','),
    type: variable.type,
    ...(variable.gitBranch === null ? {} : { gitBranch: variable.gitBranch }),
    ...(variable.configurationId === null ? {} : { configurationId: variable.configurationId }),
    ...(variable.comment === '' ? {} : { comment: variable.comment }),
  },
  version_count: variable.writes,
  deleted_at: null,
  updated_at: new Date(variable.updatedAt).toISOString(),
});
