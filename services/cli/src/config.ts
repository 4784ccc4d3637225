/** The environment of the process: the variables that the command lines of Vault and OpenBao read. */
export const environment = process.env;
