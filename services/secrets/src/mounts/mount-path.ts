import { trimSlashes } from '@secrets/domain';
import { z } from 'zod';
import { newPathProblem, visiblePath } from '../kv/secret-path.ts';

/** First segments that other parts of the API use (docs/conventions/secrets.md#mounts). */
const reserved = ['sys', 'auth', 'identity', 'cubbyhole'];

/** Last segments that the API for mounts uses: `sys/mounts/<path>/tune`. */
const reservedEnds = ['tune'];

const maxMountBytes = 256;

/** The path of an existing mount: `team/kv/` and `team/kv` are the same one. */
export const mountPath = z.string().transform(trimSlashes);

/** The path of a new mount, returned without slashes at the ends. */
export const newMountPath = mountPath
  .superRefine((path, context) => {
    const problem = mountPathProblem(path);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({ pattern: visiblePath, maxLength: 64, description: 'at most 256 bytes in UTF-8' });

function mountPathProblem(path: string): string | undefined {
  const segments = path.split('/');
  const [first, last] = [segments[0]!, segments.at(-1)!];
  if (reserved.includes(first)) return `${first} is reserved`;
  if (reservedEnds.includes(last)) return `must not end with ${last}`;
  return newPathProblem(path, maxMountBytes);
}

/** The paths at which the mount of a request's path may be, shortest first: `a`, `a/b`, … */
export const mountCandidates = (path: string): string[] => foldersOf(path, maxMountBytes);

/** The folders that contain a path, shortest first, up to a length. */
export function foldersOf(path: string, maxLength: number): string[] {
  const folders: string[] = [];
  for (let end = path.indexOf('/'); end !== -1 && end <= maxLength; end = path.indexOf('/', end + 1)) {
    if (end > 0) folders.push(path.slice(0, end));
  }
  return folders;
}

/** Whether a path belongs to another part of the API, so that no mount can be there. */
export const isReserved = (path: string): boolean => reserved.includes(path.split('/', 1)[0]!);
