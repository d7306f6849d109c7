"""What a person sees of a question, in a browser and in a notebook: one ES module and the messages it understands.

``ask.js`` and ``ask.css`` are the page's and the widget's common part; they know nothing of how messages travel.
``content`` turns what a render function returns into something to show, ``question_message`` a question into a message.
"""

from pathlib import Path

from prefopt.frontend.content import Content, Html, Markdown, content_of, format_value
from prefopt.frontend.messages import answer_keywords, question_message

#: Where the module and its style sheet are.
FOLDER = Path(__file__).parent

__all__ = ["FOLDER", "Content", "Html", "Markdown", "answer_keywords", "content_of", "format_value", "question_message"]
