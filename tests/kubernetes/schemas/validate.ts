import { run } from '../../clients/run.ts';
import { programFile, schemaFolder } from '../install.ts';

interface Report {
  resources: { kind: string; name: string; status: string; msg: string }[];
}

/** Compares each object of a YAML text with the schema of its kind. */
export async function validate(text: string): Promise<Report['resources']> {
  const location = `${schemaFolder}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  const args = ['-strict', '-verbose', '-output', 'json', '-schema-location', location];
  const { stdout } = await run(programFile('kubeconform'), args, { input: text });
  return (JSON.parse(stdout) as Report).resources;
}
