import { readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { Manifest } from '../render.ts';
import { generateTemplates, serviceValues, settingValues } from './generate-chart.ts';

const folder = new URL('../../../k8s/chart/', import.meta.url);

/** A section of values.yaml that is generated: from its comment to the next empty line, or the end. */
const section = (name: string) => new RegExp(`^# ${name}: generated\\n[\\s\\S]*?(?=^\\n|$(?![\\s\\S]))`, 'm');

/** Returns the generated files of the chart, by their paths in its folder. */
export function chartFiles(manifests: readonly Manifest[]): Map<string, string> {
  const generated = { settings: settingValues(manifests), services: serviceValues(manifests) };
  const values = Object.entries(generated).reduce(
    (text, [name, value]) =>
      text.replace(
        section(name),
        `# ${name}: generated\n${stringify({ [name]: value }, { version: '1.1', lineWidth: 0 })}`,
      ),
    readFileSync(new URL('values.yaml', folder), 'utf8'),
  );
  const templates = [...generateTemplates(manifests)].map(
    ([name, text]) => [`templates/${name}`, text] as const,
  );
  return new Map([['values.yaml', values], ...templates]);
}

export const readChartFile = (path: string): string => readFileSync(new URL(path, folder), 'utf8');

export const writeChartFile = (path: string, text: string): void =>
  writeFileSync(new URL(path, folder), text);
