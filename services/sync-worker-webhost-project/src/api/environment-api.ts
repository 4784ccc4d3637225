import { webhostProject } from '@secrets/destinations';
import { Fault, parsedJson } from '@secrets/domain';
import {
  type BoundedFetch,
  bodyBytes,
  malformedResponse,
  networkFault,
  parseResponse,
  repeatIfThrottled,
  requireSegment,
} from '@secrets/sync-worker';
import type { z } from 'zod';
import { type Answer, creationFault, faultOf } from './call-faults.ts';
import { Creation, Decrypted, Page, Project, Variable } from './schema.ts';

/** https://vercel.com/docs/rest-api#server-specs */
const publicUrl = 'https://api.vercel.com';
const maxPages = 200;
const { maxValueBytes } = webhostProject;

/** Where the variables are, and how to get there. */
export interface ProjectAccess {
  endpointUrl: string | undefined;
  accessToken: string;
  /** The ID of the project, or its name. */
  projectId: string;
  /** Empty for a project of the user. */
  teamId: string;
  fetch: BoundedFetch;
}

/** Content of a new record. */
export interface NewVariable {
  key: string;
  value: string;
  /** A team's policy may make an encrypted variable sensitive. */
  type: 'encrypted' | 'sensitive';
  /** Names of the environments that each project has, and IDs of those that it defines itself. */
  target: readonly string[];
  /**
   * Restricts a record for previews to a branch. Null ends that
   * (https://vercel.com/docs/rest-api/projects/edit-an-environment-variable).
   */
  gitBranch: string | null;
  comment: string;
}

/** Fields to change in a record. Absent fields stay. */
export type VariableChange = Partial<NewVariable>;

interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Of the path of the project's variables. */
  version?: 'v1' | 'v9' | 'v10';
  /** In place of that path. */
  path?: string;
  id?: string;
  until?: number;
  content?: unknown;
  /** Maximal size of the response; default: that of one variable with its value. */
  maxBytes?: number;
}

/** The calls of the provider's API. Each is one request, except that a list follows its pages; their failures are `Fault`s. */
export class EnvironmentApi {
  readonly #access: ProjectAccess;
  /** Addresses the project. */
  projectId: string;

  constructor(access: ProjectAccess) {
    this.#access = access;
    this.projectId = access.projectId;
  }

  /** Returns the ID of the project with this name; undefined if the API says that there is none. */
  async idOf(name: string, signal: AbortSignal): Promise<string | undefined> {
    const operation = 'reading the project';
    const path = `/v9/projects/${requireSegment('project_id', name)}`;
    // With all of its variables: https://vercel.com/docs/rest-api/projects/find-a-project-by-id-or-name
    const call = { method: 'GET', path, maxBytes: bodyBytes.list } as const;
    const answer = await this.#send(operation, call, signal, { mayBeAbsent: true });
    return answer.status === 404 ? undefined : parsed(operation, Project, answer).id;
  }

  /** Returns every variable of the project, how many more the token may not see, and how many pages were read. */
  async list(signal: AbortSignal): Promise<{ variables: Variable[]; hidden: number; pages: number }> {
    const operation = 'listing the environment variables';
    const found = new Map<string, Variable>();
    let until: number | undefined;
    for (let page = 1; page <= maxPages; page += 1) {
      const after = until === undefined ? {} : { until };
      const call = { method: 'GET', version: 'v10', ...after, maxBytes: bodyBytes.list } as const;
      const { envs, pagination, hiddenProductionEnvCount } = parsed(
        operation,
        Page,
        await this.#send(operation, call, signal),
      );
      for (const variable of envs) found.set(variable.id || `without ID ${found.size}`, variable);
      until = pagination?.next ?? undefined;
      if (until === undefined || envs.length === 0)
        return { variables: [...found.values()], hidden: hiddenProductionEnvCount, pages: page };
    }
    throw malformedResponse(operation);
  }

  /** Returns one record; undefined if the API says that there is none. */
  async find(id: string, signal: AbortSignal): Promise<Variable | undefined> {
    const operation = 'reading the environment variable';
    const call = { method: 'GET', version: 'v1', id } as const;
    const answer = await this.#send(operation, call, signal, { mayBeAbsent: true });
    return answer.status === 404 ? undefined : parsed(operation, Variable, answer);
  }

  /** Returns the value of a record, if the provider shows it: never that of a sensitive one. */
  async valueOf(id: string, signal: AbortSignal): Promise<Decrypted> {
    const operation = 'reading the environment variable';
    return parsed(
      operation,
      Decrypted,
      await this.#send(operation, { method: 'GET', version: 'v1', id }, signal),
    );
  }

  /**
   * Creates records, at least one. Throws a fault with one of `conflictCodes` if a record for one of the environments
   * exists. If some are not created, the others exist nevertheless.
   */
  async create(variables: readonly NewVariable[], signal: AbortSignal): Promise<Variable[]> {
    const operation = 'creating the environment variable';
    const records = variables.map(wireContent);
    const content = records.length === 1 ? records[0] : records;
    const maxBytes = bodyBytes.withValues(maxValueBytes, records.length);
    const call = { method: 'POST', version: 'v10', content, maxBytes } as const;
    const answer = await this.#send(operation, call, signal);
    const { created, failed } = parsed(operation, Creation, answer);
    const [failure] = failed;
    if (failure !== undefined) throw creationFault(operation, failure.error);
    if (created.length !== records.length || created.some(({ id }) => id === ''))
      throw malformedResponse(operation);
    return created;
  }

  /** Returns the changed record; undefined if the API says that there is none. */
  async edit(id: string, change: VariableChange, signal: AbortSignal): Promise<Variable | undefined> {
    const operation = 'changing the environment variable';
    const call = { method: 'PATCH', version: 'v9', id, content: wireContent(change) } as const;
    const answer = await this.#send(operation, call, signal, { mayBeAbsent: true });
    return answer.status === 404 ? undefined : parsed(operation, Variable, answer);
  }

  /** Succeeds also if there is no such record. */
  async remove(id: string, signal: AbortSignal): Promise<void> {
    const operation = 'removing the environment variable';
    await this.#send(operation, { method: 'DELETE', version: 'v9', id }, signal, { mayBeAbsent: true });
  }

  #send(operation: string, call: Call, signal: AbortSignal, { mayBeAbsent = false } = {}): Promise<Answer> {
    return repeatIfThrottled(signal, () => this.#once(operation, call, signal, mayBeAbsent));
  }

  async #once(operation: string, call: Call, signal: AbortSignal, mayBeAbsent: boolean): Promise<Answer> {
    try {
      const answer = await this.#request(call, signal);
      const fault = faultOf(operation, answer);
      if (fault !== undefined && !(mayBeAbsent && answer.status === 404)) throw fault;
      return answer;
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw networkFault(operation, error as Error) ?? error;
    }
  }

  async #request({ method, content, maxBytes, ...call }: Call, signal: AbortSignal): Promise<Answer> {
    const response = await this.#access.fetch(this.#urlOf(call), {
      method,
      headers: {
        authorization: `Bearer ${this.#access.accessToken}`,
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
      signal,
      maxBytes: maxBytes ?? bodyBytes.withValues(maxValueBytes),
    });
    const { status, headers } = response;
    return { status, headers, content: parsedJson(await response.text()) };
  }

  #urlOf({ version, id, until, path: given }: Omit<Call, 'method' | 'content' | 'maxBytes'>): string {
    const { endpointUrl = publicUrl, teamId } = this.#access;
    const path = given ?? `/${version}/projects/${requireSegment('project_id', this.projectId)}/env`;
    const url = new URL(
      `${endpointUrl.replace(/\/$/, '')}${path}${id === undefined ? '' : `/${requireSegment('the ID of the environment variable', id)}`}`,
    );
    if (teamId !== '') url.searchParams.set('teamId', teamId);
    if (until !== undefined) url.searchParams.set('until', String(until));
    return url.href;
  }
}

const parsed = <Schema extends z.ZodType>(operation: string, schema: Schema, { content }: Answer) =>
  parseResponse(operation, schema, content);

const targets = ['production', 'preview', 'development'];

/** The content as the API takes it, with the environments in two fields. */
const wireContent = ({ target, ...content }: VariableChange): object =>
  target === undefined
    ? content
    : {
        ...content,
        target: target.filter((environment) => targets.includes(environment)),
        customEnvironmentIds: target.filter((environment) => !targets.includes(environment)),
      };
