"""Schemas: what ``tools/list`` advertises, generated from the wire's models.

Clients flatten a union or a reference into "anything", and some drop the tool or the
whole server. An input schema therefore holds one type a slot, inlined, and nothing else
but required, bounds, enums, defaults and descriptions.
"""

from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

Schema = dict[str, Any]


class _Plain(GenerateJsonSchema):
    """JSON Schema without titles, model docstrings and the defaults that mean absence."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return self._untitled(super().model_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return self._untitled(super().typed_dict_schema(schema))

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        match described.get("default", ...):
            case None:
                del described["default"]
            case dict() as members:
                given = {name: value for name, value in members.items() if value is not None}
                described["default"] = given
        return described

    @staticmethod
    def _untitled(schema: JsonSchemaValue) -> JsonSchemaValue:
        return {k: v for k, v in schema.items() if k not in ("title", "description")}


class _Input(_Plain):
    """An optional slot advertises its one type; that it may be null stays unsaid."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


class _Output(_Plain):
    """A value that may be null has the types of both."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        match inner.get("type"):
            case str() as kind:
                return inner | {"type": [kind, "null"]}
            case list() as kinds:
                return inner | {"type": [*kinds, "null"]}
        return super().nullable_schema(schema)


def input_schema(model: type[BaseModel]) -> Schema:
    """The schema of a tool's arguments."""
    return _inlined(model.model_json_schema(by_alias=True, schema_generator=_Input))


def output_schema(shape: Any) -> Schema:
    """The schema of a tool's answer, given its TypedDict."""
    generated = TypeAdapter(shape).json_schema(schema_generator=_Output, mode="serialization")
    return _inlined(generated)


def _inlined(schema: Schema) -> Schema:
    """The schema with every reference replaced by what it refers to."""
    definitions = schema.get("$defs", {})

    def inline(node: Any) -> Any:
        if isinstance(node, list):
            return [inline(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            node = definitions[name] | {k: v for k, v in node.items() if k != "$ref"}
        return {key: inline(value) for key, value in node.items() if key != "$defs"}

    inlined: Schema = inline(schema)
    return inlined
