/** The version in the package.json of the repository, which an image does not contain. */
export const productVersion = '0.2.0';

/**
 * The version of Vault's API that this one is compatible with. Clients decide by it which fields they send:
 * HashiCorp's Terraform provider has resources for syncing only from 1.16 on, and only with the suffix of the
 * edition that has them.
 */
export const apiVersion = '1.21.4+ent';
