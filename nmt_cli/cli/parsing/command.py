"""A command of `nmt` for Typer: which parameters are options, how they are parsed, and its help pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand

from nmt_cli.api.options.command_options import OPTIONS
from nmt_cli.cli.parsing.ambient import name_variable
from nmt_cli.cli.parsing.assignments import parse_command_line
from nmt_cli.cli.parsing.fast_start import LightParameters, convert_lightly
from nmt_cli.cli.parsing.spelling import is_setting, name_option, respell_settings
from nmt_cli.cli.parsing.usage_errors import attach_value
from nmt_cli.errors import NmtError

# Other names of values, by the option: those by which textbooks and other toolkits call them.
SYNONYMS = {"attention": {"bahdanau": "additive", "luong": "general"}}
ALWAYS = {"help", "help-all"}  # options of every command


class PanelledCommand(LightParameters, TyperCommand):
    """A command with examples, everyday options and headings in its `--help`, and all settings in `--help-all`.

    Parameters outside its OPTIONS are settings: unknown to its parser, but accepted by `--set`.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for parameter in self.params:
            self.prepare_parameter(parameter)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from nmt_cli.cli.help import format_command_help  # only help needs it

        formatter.write(format_command_help(self, ctx, in_full=False))

    def prepare_parameter(self, parameter: Any) -> None:
        """Records whether a parameter is a setting, its environment variable, and how its values are converted."""
        options = OPTIONS.get(self.name or "")
        if parameter.param_type_name == "option":
            parameter.envvar = name_variable(name_option(parameter))
        if options is not None and parameter.param_type_name == "option":
            parameter.is_setting = name_option(parameter) not in options.names | ALWAYS
        if is_setting(parameter):
            parameter.hidden = True  # from completion
            parameter.add_to_parser = lambda parser, ctx: None
        convert_lightly(parameter)
        attach_value(parameter)
        synonyms = SYNONYMS.get(parameter.name)
        if synonyms:
            parameter.process_value = partial(replace_synonym, synonyms, parameter.process_value)

    def make_parser(self, ctx: Any) -> Any:
        parser = super().make_parser(ctx)
        if not ctx.resilient_parsing:
            parser.parse_args = partial(parse_command_line, ctx, parser.parse_args)  # type: ignore[method-assign]
        return parser

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except NmtError as error:
            error.message, error.hint = (respell_settings(text, self.params) for text in (error.message, error.hint))
            raise


def replace_synonym(synonyms: Mapping[str, str], convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """Returns the value of an option, translating synonyms used in textbooks."""
    return convert(context, synonyms.get(value, value) if isinstance(value, str) else value)


def show_full_help(context: Any, parameter: Any, is_set: bool) -> bool:
    """Prints every setting of a command in full and exits, if `is_set`."""
    if is_set and not context.resilient_parsing:
        from nmt_cli.cli.help import format_command_help

        typer.echo(format_command_help(context.command, context, in_full=True))
        raise typer.Exit
    return is_set
