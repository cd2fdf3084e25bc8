"""The HTML reports of a comparison and of every pair of many algorithms, each one file to send to a colleague."""

from hiercomp.files.source import Source
from hiercomp.report.contents import ReportContents, report_contents
from hiercomp.report.page import render, write_report, write_tournament_report

__all__ = ["ReportContents", "Source", "render", "report_contents", "write_report", "write_tournament_report"]
