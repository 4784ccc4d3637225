import { readFileSync } from 'node:fs';

/** A connection: who opens it, and to whom. */
export interface Arrow {
  source: string;
  target: string;
}

/** The nodes of the diagram whose name is not that of a service. */
const names: Record<string, string> = {
  client: 'outside',
  store: 'outside',
  directory: 'outside',
  control: 'sync-control',
  rabbit: 'rabbitmq',
  worker: 'sync-worker-*',
};

/** Servers, which open no connections: an arrow that leads away from them is opened by its other end. */
const servers = ['rabbitmq', 'postgres'];

const architecture = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8');

/** Returns the arrows of the first diagram of ARCHITECTURE.md, and those of the row `setup` of the table below it. */
export function arrowsOfArchitecture(text: string = architecture): Arrow[] {
  const [diagram] = /```mermaid\nflowchart[\s\S]*?```/.exec(text)!;
  const drawn = diagram.split('\n').flatMap(arrowsOfLine);
  const [, setup] = /^\| `setup` \|.*\| ([^|]*) \|$/m.exec(text)!;
  const ofSetup = setup!.split(', ').map((server) => ({ source: 'setup', target: server.toLowerCase() }));
  return [...drawn, ...ofSetup];
}

function arrowsOfLine(line: string): Arrow[] {
  const [, left, right] = /^\s*(.+?)\s(?:--\s.+\s-->|-->|---)\s(.+)$/.exec(line) ?? [];
  if (left === undefined || right === undefined) return [];
  const nodes = (side: string) =>
    side.split(' & ').map((node) => {
      const [id] = /^\w+/.exec(node)!;
      return names[id] ?? id;
    });
  return nodes(left).flatMap((source) =>
    nodes(right).map((target) =>
      servers.includes(source) ? { source: target, target: source } : { source, target },
    ),
  );
}
