import { readdirSync, readFileSync } from 'node:fs';

/** Returns a process and its descendants. Throws where `/proc` does not exist. */
export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const parent = parentOf(Number(pid));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** Returns the process that has started another one; undefined if that does not exist any more. */
export function parentOf(pid: number): number | undefined {
  const parent = statOf(pid)[1];
  return parent === undefined ? undefined : Number(parent);
}

/** Returns the name of a process's program; undefined if it does not exist. */
export function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Returns the fields of `/proc/<pid>/stat` from the third one, `state`; none if the process does not exist. */
export function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  } catch {
    return [];
  }
}

/** Memory in MiB. */
export interface Memory {
  /** Resident memory. Pages that processes share count once for each of them. */
  resident: number;
  /** The same, with every shared page counted once. */
  proportional: number;
}

/** Returns the memory of processes. Processes that have ended meanwhile have none. */
export function memoryOf(pids: readonly number[]): Memory {
  const sum = (field: string) =>
    pids.reduce((kibibytes, pid) => kibibytes + kibibytesOf(pid, field), 0) / 1_024;
  return { resident: sum('Rss'), proportional: sum('Pss') };
}

function kibibytesOf(pid: number, field: string): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
