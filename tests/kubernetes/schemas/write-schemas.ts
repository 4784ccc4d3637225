import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { modules, packages } from '../versions.ts';
import { declaredSchemas } from './declared-schema.ts';
import { type Schema, strictSchema, withDefinitions } from './strict-schema.ts';

/** The folder of each module and package. */
export type Sources = Record<keyof typeof modules | keyof typeof packages, string>;

interface Kind {
  group: string;
  version: string;
  kind: string;
}

/** A CustomResourceDefinition, as far as this needs it. */
interface Definition {
  kind?: string;
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

/** Groups of the Kubernetes API that the overlays use. */
const groups = [
  'api__v1',
  'apis__apps__v1',
  'apis__batch__v1',
  'apis__policy__v1',
  'apis__networking.k8s.io__v1',
];

/** Folders with custom resource definitions. */
const definitionFolders = (sources: Sources): string[] => [
  join(sources.keda, 'config/crd/bases'),
  join(sources.externalSecrets, 'config/crds/bases'),
  join(sources.prometheus, 'example/prometheus-operator-crd'),
  join(sources.gateway, 'config/crd/standard'),
];

/** Writes a JSON Schema for each kind that the sources describe. */
export function writeSchemas(sources: Sources, folder: string): void {
  for (const [kind, schema] of [
    ...[...groups, 'apis__autoscaling__v2'].flatMap((group) =>
      builtInSchemas(join(sources.kubernetes, `api/openapi-spec/v3/${group}_openapi.json`)),
    ),
    ...definitionFolders(sources).flatMap(customSchemas),
    cloudNativePgSchema(join(sources.cloudnativePg, 'dist/postgresql.cnpg.io.d.ts')),
    rabbitSchema(),
  ])
    writeFileSync(join(folder, fileOf(kind)), JSON.stringify(withKind(schema, kind)));
}

/** The name that kubeconform calls `{{.ResourceKind}}{{.KindSuffix}}.json`. */
const fileOf = ({ group, version, kind }: Kind): string =>
  `${[kind, ...(group === '' ? [] : [group.split('.')[0]]), version].join('-').toLowerCase()}.json`;

const withKind = (schema: Schema, { group, version, kind }: Kind): Schema => ({
  ...schema,
  required: [...new Set([...(schema.required ?? []), 'apiVersion', 'kind', 'metadata'])],
  properties: {
    metadata: { type: 'object' },
    ...schema.properties,
    apiVersion: { enum: [group === '' ? version : `${group}/${version}`] },
    kind: { enum: [kind] },
  },
});

function builtInSchemas(file: string): [Kind, Schema][] {
  const { components } = JSON.parse(readFileSync(file, 'utf8')) as {
    components: { schemas: Record<string, Schema & { 'x-kubernetes-group-version-kind'?: Kind[] }> };
  };
  const all = Object.fromEntries(
    Object.entries(components.schemas).map(([name, schema]) => [name, strictSchema(schema)]),
  );
  return Object.entries(components.schemas).flatMap(([name, schema]) => {
    const kinds = schema['x-kubernetes-group-version-kind'] ?? [];
    // DeleteOptions and the like belong to every group.
    return kinds.length === 1 ? [[kinds[0]!, withDefinitions(all[name]!, all)]] : [];
  });
}

function customSchemas(folder: string): [Kind, Schema][] {
  const texts = readdirSync(folder)
    .filter((name) => name.includes('_'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  return texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Definition | null))
    .filter((definition) => definition?.kind === 'CustomResourceDefinition')
    .flatMap((definition) => {
      const { group, names, versions } = definition!.spec;
      return versions.map(({ name, schema }): [Kind, Schema] => [
        { group, version: name, kind: names.kind },
        strictSchema(schema.openAPIV3Schema),
      ]);
    });
}

function cloudNativePgSchema(file: string): [Kind, Schema] {
  const all = declaredSchemas(readFileSync(file, 'utf8'));
  return [
    { group: 'postgresql.cnpg.io', version: 'v1', kind: 'Cluster' },
    withDefinitions(all.ClusterProps!, all),
  ];
}

function rabbitSchema(): [Kind, Schema] {
  const text = readFileSync(new URL('./rabbitmqcluster.yaml', import.meta.url), 'utf8');
  return [
    { group: 'rabbitmq.com', version: 'v1beta1', kind: 'RabbitmqCluster' },
    strictSchema(parse(text) as Schema),
  ];
}
