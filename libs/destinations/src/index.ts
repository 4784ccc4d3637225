export { credentialsAad } from './credentials-aad.ts';
export { type DestinationDescription, describeType, settingsOf } from './description.ts';
export {
  connection,
  type Fields,
  fieldsThat,
  isPushed,
  type PushedName,
  type SettingsOf,
} from './fields/field.ts';
export { externalName, formerName } from './names/external-name.ts';
export { importPath, parsePathTemplate } from './names/import-path.ts';
export { destinationTypes, findDescription } from './registry.ts';
export type { Given } from './request/destination-content.ts';
export { mask, parseDestination } from './request/parse-destination.ts';
export { presentDestination } from './request/present-destination.ts';
export { builtInTags, ownerTag, prefixOfTags, releasedOwner } from './tags/built-in-tags.ts';
export { labelsOf } from './tags/labels.ts';
export { cloudASm, replicaKeys } from './types/clouda-sm.ts';
export { isCloudVault } from './types/cloudb-hosts.ts';
export { type CloudBSettings, cloudBKv, isCertificateType } from './types/cloudb-kv.ts';
export { foreignUrlIn, parseServiceAccount } from './types/cloudc-credentials.ts';
export { type CloudCSettings, cloudCSm, providerOf } from './types/cloudc-sm.ts';
export { type CodehostSettings, codehost, enterpriseUrl } from './types/codehost.ts';
export { webhostProject } from './types/webhost-project.ts';
export { type Naming, namingFields, requireNaming, storedNaming } from './values/naming.ts';
export { pushedKey } from './values/pushed-key.ts';
export { whyValueRefused } from './values/why-value-refused.ts';
