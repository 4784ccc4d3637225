"""Calls of hvac as its users make them. Each test has a mount of its own."""

import json
import os
import unittest
import urllib.request
import uuid

import hvac
from hvac.exceptions import Forbidden, InvalidPath, InvalidRequest

READ_ONLY = """
path "{mount}/data/*" {{ capabilities = ["read"] }}
path "{mount}/metadata/*" {{ capabilities = ["list", "read"] }}
"""


def sandbox(method, path, body=None):
    request = urllib.request.Request(
        f"{os.environ['SANDBOX_URL']}/_sandbox/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


class Hvac(unittest.TestCase):
    def setUp(self):
        self.client = hvac.Client()  # VAULT_ADDR, VAULT_TOKEN
        self.name = f"t{uuid.uuid4().hex[:8]}"
        self.mount = f"{self.name}kv"
        self.client.sys.enable_secrets_engine("kv", path=self.mount, options={"version": "2"})
        self.kv = self.client.secrets.kv.v2

    def put(self, path, **data):
        return self.kv.create_or_update_secret(path, secret=data, mount_point=self.mount)

    def get(self, path, **options):
        answer = self.kv.read_secret_version(
            path, mount_point=self.mount, raise_on_deleted_version=True, **options
        )
        return answer["data"]["data"]

    def limited(self, rules=READ_ONLY, **options):
        """A client whose token has only a policy with these rules."""
        self.client.sys.create_or_update_policy(self.name, rules.format(mount=self.mount))
        auth = self.client.auth.token.create(policies=[self.name], ttl="1h", **options)["auth"]
        return hvac.Client(token=auth["client_token"])

    # Secrets

    def test_writes_and_reads_versions_of_a_secret(self):
        self.put("shop/db", user="a")
        self.assertEqual(self.put("shop/db", user="b")["data"]["version"], 2)
        self.assertEqual(self.get("shop/db"), {"user": "b"})
        self.assertEqual(self.get("shop/db", version=1), {"user": "a"})

    def test_a_missing_secret_is_an_invalid_path(self):
        with self.assertRaises(InvalidPath):
            self.get("missing")

    def test_check_and_set_refuses_another_version(self):
        self.kv.create_or_update_secret("a", secret={"n": 1}, cas=0, mount_point=self.mount)
        with self.assertRaises(InvalidRequest):
            self.kv.create_or_update_secret("a", secret={"n": 2}, cas=0, mount_point=self.mount)
        self.assertEqual(self.get("a"), {"n": 1})

    def test_patches_a_secret(self):
        self.put("a", one=1, two=2)
        self.kv.patch("a", secret={"two": 3}, mount_point=self.mount)
        self.assertEqual(self.get("a"), {"one": 1, "two": 3})
        with self.assertRaises(InvalidPath):
            self.kv.patch("missing", secret={"two": 3}, mount_point=self.mount)

    def test_keeps_numbers_and_unicode(self):
        data = {"big": 12345678901234567890, "pi": 3.25, "text": "grüße 日本", "deep": [{"a": None}]}
        self.put("a", **data)
        self.assertEqual(self.get("a"), data)

    def test_deletes_and_undeletes_versions(self):
        self.put("a", n=1)
        self.kv.delete_latest_version_of_secret("a", mount_point=self.mount)
        with self.assertRaises(InvalidPath):
            self.get("a")
        self.kv.undelete_secret_versions("a", versions=[1], mount_point=self.mount)
        self.assertEqual(self.get("a"), {"n": 1})
        self.put("a", n=2)
        self.kv.delete_secret_versions("a", versions=[1], mount_point=self.mount)
        self.assertEqual(self.get("a"), {"n": 2})
        with self.assertRaises(InvalidPath):
            self.get("a", version=1)

    def test_reads_a_deleted_version_without_an_exception(self):
        self.put("a", n=1)
        self.kv.delete_latest_version_of_secret("a", mount_point=self.mount)
        answer = self.kv.read_secret_version("a", mount_point=self.mount, raise_on_deleted_version=False)
        self.assertIsNone(answer["data"]["data"])
        self.assertNotEqual(answer["data"]["metadata"]["deletion_time"], "")

    def test_destroys_versions(self):
        self.put("a", n=1)
        self.kv.destroy_secret_versions("a", versions=[1], mount_point=self.mount)
        metadata = self.kv.read_secret_metadata("a", mount_point=self.mount)["data"]
        self.assertTrue(metadata["versions"]["1"]["destroyed"])

    def test_lists_secrets(self):
        self.put("a", n=1)
        self.put("shop/db", n=1)
        self.assertEqual(self.kv.list_secrets("", mount_point=self.mount)["data"]["keys"], ["a", "shop/"])
        self.assertEqual(self.kv.list_secrets("shop", mount_point=self.mount)["data"]["keys"], ["db"])
        with self.assertRaises(InvalidPath):
            self.kv.list_secrets("missing", mount_point=self.mount)

    def test_updates_and_deletes_metadata(self):
        self.put("a", n=1)
        self.kv.update_metadata(
            "a",
            max_versions=3,
            cas_required=False,
            delete_version_after="1h",
            custom_metadata={"team": "shop"},
            mount_point=self.mount,
        )
        metadata = self.kv.read_secret_metadata("a", mount_point=self.mount)["data"]
        self.assertEqual(metadata["custom_metadata"], {"team": "shop"})
        self.assertEqual((metadata["max_versions"], metadata["delete_version_after"]), (3, "1h0m0s"))
        self.kv.delete_metadata_and_all_versions("a", mount_point=self.mount)
        with self.assertRaises(InvalidPath):
            self.kv.read_secret_metadata("a", mount_point=self.mount)

    def test_configures_the_mount(self):
        self.kv.configure(max_versions=4, cas_required=True, delete_version_after="2h", mount_point=self.mount)
        config = self.kv.read_configuration(mount_point=self.mount)["data"]
        self.assertEqual((config["max_versions"], config["cas_required"]), (4, True))
        self.assertEqual(config["delete_version_after"], "2h0m0s")

    def test_reads_writes_lists_and_deletes_any_path(self):
        self.client.write_data(f"{self.mount}/data/a", data={"data": {"n": 1}})
        self.assertEqual(self.client.read(f"{self.mount}/data/a")["data"]["data"], {"n": 1})
        self.assertEqual(self.client.list(f"{self.mount}/metadata/")["data"]["keys"], ["a"])
        self.client.delete(f"{self.mount}/metadata/a")
        self.assertIsNone(self.client.read(f"{self.mount}/data/a"))

    # Mounts

    def test_lists_tunes_and_disables_mounts(self):
        self.assertIn(f"{self.mount}/", self.client.sys.list_mounted_secrets_engines()["data"])
        self.client.sys.tune_mount_configuration(self.mount, description="changed", default_lease_ttl="1h")
        tuned = self.client.sys.read_mount_configuration(self.mount)["data"]
        self.assertEqual(tuned["description"], "changed")
        self.assertEqual(self.client.sys.retrieve_mount_option(self.mount, "version", "1"), "2")
        self.client.sys.disable_secrets_engine(self.mount)
        self.assertNotIn(f"{self.mount}/", self.client.sys.list_mounted_secrets_engines()["data"])

    def test_moves_a_mount(self):
        self.put("a", n=1)
        self.client.sys.move_backend(self.mount, f"{self.mount}-moved")
        answer = self.kv.read_secret_version("a", mount_point=f"{self.mount}-moved", raise_on_deleted_version=True)
        self.assertEqual(answer["data"]["data"], {"n": 1})
        with self.assertRaises(InvalidPath):
            self.get("a")

    def test_enables_every_spelling_of_version_two(self):
        spellings = [("kv-v2", None), ("kv", {"version": 2}), ("kv", {"version": "2"})]
        for number, (kind, options) in enumerate(spellings):
            path = f"{self.name}v{number}"
            self.client.sys.enable_secrets_engine(kind, path=path, description="x", options=options)
            self.assertEqual(self.client.sys.retrieve_mount_option(path, "version"), "2")

    # Policies

    def test_manages_policies(self):
        for create, read, delete, list_names in [
            (
                self.client.sys.create_or_update_policy,
                self.client.sys.read_policy,
                self.client.sys.delete_policy,
                lambda: self.client.sys.list_policies()["data"]["keys"],
            ),
            (
                self.client.sys.create_or_update_acl_policy,
                self.client.sys.read_acl_policy,
                self.client.sys.delete_acl_policy,
                lambda: self.client.sys.list_acl_policies()["data"]["keys"],
            ),
        ]:
            rules = READ_ONLY.format(mount=self.mount)
            create(self.name, rules)
            data = read(self.name)["data"]
            self.assertEqual(data.get("rules", data.get("policy")), rules)
            self.assertIn(self.name, list_names())
            delete(self.name)
            self.assertNotIn(self.name, list_names())

    def test_writes_a_policy_as_an_object(self):
        policy = {"path": {f"{self.mount}/data/*": {"capabilities": ["read"]}}}
        self.client.sys.create_or_update_policy(self.name, policy)
        self.put("a", n=1)
        token = self.client.auth.token.create(policies=[self.name])["auth"]["client_token"]
        answer = hvac.Client(token=token).secrets.kv.v2.read_secret_version(
            "a", mount_point=self.mount, raise_on_deleted_version=True
        )
        self.assertEqual(answer["data"]["data"], {"n": 1})

    def test_a_limited_token_may_do_what_its_policy_allows(self):
        self.put("shop/db", n=1)
        limited = self.limited()
        kv = limited.secrets.kv.v2
        answer = kv.read_secret_version("shop/db", mount_point=self.mount, raise_on_deleted_version=True)
        self.assertEqual(answer["data"]["data"], {"n": 1})
        self.assertEqual(kv.list_secrets("", mount_point=self.mount)["data"]["keys"], ["shop/"])
        with self.assertRaises(Forbidden):
            kv.create_or_update_secret("shop/db", secret={"n": 2}, mount_point=self.mount)
        with self.assertRaises(Forbidden):
            limited.sys.list_policies()

    def test_returns_capabilities(self):
        limited = self.limited()
        path = f"{self.mount}/data/a"
        self.assertEqual(limited.sys.get_capabilities([path])["data"][path], ["read"])
        by_token = self.client.sys.get_capabilities([path], token=limited.token)
        self.assertEqual(by_token["data"][path], ["read"])
        accessor = limited.auth.token.lookup_self()["data"]["accessor"]
        self.assertEqual(self.client.sys.get_capabilities([path], accessor=accessor)["data"][path], ["read"])

    # Tokens

    def test_is_authenticated_with_valid_tokens_only(self):
        self.assertTrue(self.client.is_authenticated())
        self.assertTrue(self.limited().is_authenticated())
        self.assertFalse(hvac.Client(token="hvs.unknown").is_authenticated())

    def test_looks_up_tokens(self):
        limited = self.limited(meta={"team": "shop"}, display_name="shop")
        own = limited.auth.token.lookup_self()["data"]
        self.assertEqual((own["id"], own["meta"]), (limited.token, {"team": "shop"}))
        self.assertIn(self.name, own["policies"])
        self.assertEqual(self.client.auth.token.lookup(limited.token)["data"]["accessor"], own["accessor"])
        by_accessor = self.client.auth.token.lookup_accessor(own["accessor"])["data"]
        self.assertEqual(by_accessor["policies"], own["policies"])
        self.assertIn(own["accessor"], self.client.auth.token.list_accessors()["data"]["keys"])

    def test_renews_tokens(self):
        limited = self.limited()
        renewed = limited.auth.token.renew_self(increment="2h")["auth"]
        self.assertEqual(renewed["client_token"], limited.token)
        self.assertGreater(renewed["lease_duration"], 7000)
        self.assertLessEqual(self.client.auth.token.renew(limited.token, increment=60)["auth"]["lease_duration"], 60)
        accessor = limited.auth.token.lookup_self()["data"]["accessor"]
        self.client.auth.token.renew_accessor(accessor, increment="1h")

    def test_revokes_tokens(self):
        token = self.client.auth.token
        self.limited().auth.token.revoke_self()
        limited = self.limited()
        token.revoke(limited.token)
        self.assertFalse(limited.is_authenticated())
        limited = self.limited()
        token.revoke_accessor(limited.auth.token.lookup_self()["data"]["accessor"])
        self.assertFalse(limited.is_authenticated())
        limited = self.limited()
        token.revoke_and_orphan_children(limited.token)
        self.assertFalse(limited.is_authenticated())

    def test_creates_orphans_batch_tokens_and_periodic_tokens(self):
        create = self.client.auth.token.create
        self.assertTrue(self.client.auth.token.create_orphan(policies=["default"])["auth"]["orphan"])
        self.assertTrue(create(policies=["default"], no_parent=True)["auth"]["orphan"])
        batch = create(policies=["default"], type="batch", ttl="1h")["auth"]
        self.assertEqual((batch["token_type"], batch["accessor"]), ("batch", ""))
        self.assertEqual(hvac.Client(token=batch["client_token"]).lookup_token()["data"]["type"], "batch")
        self.assertEqual(create(policies=["default"], period="30m")["auth"]["lease_duration"], 1800)

    def test_a_token_with_limited_uses_ends(self):
        limited = self.limited(num_uses=1)
        self.assertTrue(limited.is_authenticated())
        self.assertFalse(limited.is_authenticated())

    def test_manages_token_roles(self):
        token = self.client.auth.token
        self.client.sys.create_or_update_policy(self.name, READ_ONLY.format(mount=self.mount))
        token.create_or_update_role(
            self.name, allowed_policies=[self.name], orphan=True, token_period="1h", path_suffix="shop"
        )
        role = token.read_role(self.name)["data"]
        self.assertEqual((role["allowed_policies"], role["orphan"]), ([self.name], True))
        self.assertIn(self.name, token.list_roles()["data"]["keys"])
        auth = token.create(policies=[self.name], role_name=self.name)["auth"]
        self.assertEqual((auth["orphan"], auth["lease_duration"]), (True, 3600))
        with self.assertRaises(InvalidRequest):
            token.create(policies=["other"], role_name=self.name)
        token.delete_role(self.name)
        with self.assertRaises(InvalidPath):
            token.read_role(self.name)

    # Response wrapping

    def test_wraps_and_unwraps_a_response(self):
        self.put("a", n=1)
        wrapped = self.client.read(f"{self.mount}/data/a", wrap_ttl="5m")
        self.assertIsNone(wrapped["data"])
        info = wrapped["wrap_info"]
        self.assertEqual((info["ttl"], info["creation_path"]), (300, f"{self.mount}/data/a"))
        unwrapped = self.client.sys.unwrap(info["token"])
        self.assertEqual(unwrapped["data"]["data"], {"n": 1})
        with self.assertRaises(InvalidRequest):
            self.client.sys.unwrap(info["token"])

    def test_wraps_any_data(self):
        info = self.client.sys.wrap({"password": "x"}, ttl=60)["wrap_info"]
        self.assertEqual(hvac.Client(token=info["token"]).sys.unwrap()["data"], {"password": "x"})

    def test_wraps_a_new_token(self):
        wrapped = self.client.auth.token.create(policies=["default"], wrap_ttl="1m")["wrap_info"]
        auth = self.client.sys.unwrap(wrapped["token"])["auth"]
        self.assertTrue(hvac.Client(token=auth["client_token"]).is_authenticated())

    # Namespaces

    def test_manages_namespaces_and_works_in_them(self):
        self.client.sys.create_namespace(self.name)
        self.assertIn(f"{self.name}/", self.client.sys.list_namespaces()["data"]["keys"])
        inside = hvac.Client(namespace=self.name)
        inside.sys.enable_secrets_engine("kv-v2", path="kv")
        inside.secrets.kv.v2.create_or_update_secret("a", secret={"n": 1}, mount_point="kv")
        self.assertEqual(self.client.read(f"{self.name}/kv/data/a")["data"]["data"], {"n": 1})
        inside.sys.disable_secrets_engine("kv")
        self.client.sys.delete_namespace(self.name)
        self.client.sys.create_namespace(self.name)  # the name is free again

    # State of the server

    def test_reads_the_state_of_the_server_without_a_token(self):
        client = hvac.Client(token="")
        self.assertTrue(client.sys.is_initialized())
        self.assertFalse(client.sys.is_sealed())
        self.assertFalse(client.sys.read_seal_status()["sealed"])
        self.assertTrue(client.sys.read_leader_status()["ha_enabled"] in (True, False))
        health = client.sys.read_health_status(method="GET")
        self.assertEqual((health["initialized"], health["sealed"], health["standby"]), (True, False, False))
        self.assertEqual(client.sys.read_health_status().status_code, 200)

    # Login methods

    def test_manages_auth_mounts(self):
        sys = self.client.sys
        sys.enable_auth_method("azure", path=self.name, description="logins", config={"default_lease_ttl": "1h"})
        self.assertEqual(sys.list_auth_methods()["data"][f"{self.name}/"]["description"], "logins")
        self.assertIn("token/", sys.list_auth_methods()["data"])
        sys.tune_auth_method(self.name, default_lease_ttl="2h", description="changed")
        tuned = sys.read_auth_method_tuning(self.name)["data"]
        self.assertEqual((tuned["default_lease_ttl"], tuned["description"]), (7200, "changed"))
        sys.disable_auth_method(self.name)
        self.assertNotIn(f"{self.name}/", sys.list_auth_methods()["data"])

    def test_logs_in_through_azure(self):
        azure = self.client.auth.azure
        tenant = sandbox("GET", "about")["directory"]["tenant_id"]
        identity = sandbox("GET", "about")["directory"]["identities"][0]
        audience = "https://secrets.example"
        self.client.sys.enable_auth_method("azure", path=self.name)
        azure.configure(tenant_id=tenant, resource=audience, mount_point=self.name)
        self.assertEqual(azure.read_config(mount_point=self.name)["tenant_id"], tenant)
        self.client.sys.create_or_update_policy(self.name, READ_ONLY.format(mount=self.mount))
        azure.create_role(
            "shop", policies=[self.name], ttl="1h", bound_service_principal_ids=[identity["oid"]], mount_point=self.name
        )
        self.assertEqual(azure.list_roles(mount_point=self.name)["keys"], ["shop"])
        self.assertEqual(
            azure.read_role("shop", mount_point=self.name)["bound_service_principal_ids"], [identity["oid"]]
        )
        jwt = sandbox("POST", "directory/token", {"audience": audience, "oid": identity["oid"]})["token"]
        workload = hvac.Client(token="")
        auth = workload.auth.azure.login(role="shop", jwt=jwt, mount_point=self.name)["auth"]
        self.assertIn(self.name, auth["policies"])
        self.assertEqual(workload.token, auth["client_token"])
        self.assertTrue(workload.is_authenticated())
        azure.delete_role("shop", mount_point=self.name)
        azure.delete_config(mount_point=self.name)

    def test_manages_entities_and_groups(self):
        identity = self.client.secrets.identity
        self.client.sys.enable_auth_method("azure", path=self.name)
        accessor = self.client.sys.list_auth_methods()["data"][f"{self.name}/"]["accessor"]
        group = identity.create_or_update_group(
            name=self.name, group_type="external", policies=["default"], metadata={"team": "shop"}
        )["data"]
        self.assertEqual(identity.read_group(group["id"])["data"]["name"], self.name)
        self.assertEqual(identity.read_group_by_name(self.name)["data"]["id"], group["id"])
        self.assertIn(group["id"], identity.list_groups()["data"]["keys"])
        alias = identity.create_or_update_group_alias(
            name=str(uuid.uuid4()), mount_accessor=accessor, canonical_id=group["id"]
        )["data"]
        self.assertEqual(identity.read_group_alias(alias["id"])["data"]["canonical_id"], group["id"])
        identity.delete_group_alias(alias["id"])
        identity.delete_group(group["id"])
        with self.assertRaises(InvalidPath):
            identity.read_group(group["id"])

    def test_errors_have_the_sentences_of_the_server(self):
        with self.assertRaises(InvalidRequest) as raised:
            self.client.sys.create_or_update_policy(self.name, "path {")
        self.assertTrue(raised.exception.errors[0])


if __name__ == "__main__":
    unittest.main()
