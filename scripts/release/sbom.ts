import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';
import isSpdxExpression from 'spdx-expression-parse';

const { Builders, Factories } = Contrib.FromNodePackageJson;
const builder = new Builders.ComponentBuilder(
  new Factories.ExternalReferenceFactory(),
  new Contrib.License.Factories.LicenseFactory(isSpdxExpression),
);

/** The fields of a package.json that a bill of materials needs. */
interface Package {
  name: string;
  version: string;
  license?: string;
}

/** The folder of a package in a path that esbuild names. */
const packageFolder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/.][^/]*(?=\/)/;

/** Returns the package.json of each package that the inputs of a bundle come from. */
export function packagesOf(root: string, inputs: readonly string[]): Package[] {
  const folders = new Set(
    inputs.map((path) => packageFolder.exec(path)?.[0]).filter((one) => one !== undefined),
  );
  return [...folders].map((folder) => packageIn(join(root, folder)));
}

/** Returns the package.json in a folder. */
export const packageIn = (folder: string): Package =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;

/**
 * Returns a bill of materials of a program as CycloneDX: the packages whose code it contains. It has no time and no serial
 * number: the text depends on nothing but the packages.
 * @param packages the package.json of each, or at least `name`, `version` and `license`
 */
export function sbomOf({ name, version }: Package, packages: readonly Package[]): string {
  const component = new Models.Component(Enums.ComponentType.Application, name, { version });
  component.bomRef.value = name;
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component }) });
  const unique = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  for (const one of unique.values()) bom.components.add(componentOf(one));
  const normalizers = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return `${new Serialize.JsonSerializer(normalizers).serialize(bom, { sortLists: true, space: 1 })}\n`;
}

function componentOf(data: Package): Models.Component {
  const component = builder.makeComponent({ ...data });
  if (component === undefined) throw new Error(`the package ${data.name} cannot be described`);
  const { group, name, version } = component;
  component.purl = new PackageURL('npm', group, name, version).toString();
  component.bomRef.value = component.purl;
  return component;
}
